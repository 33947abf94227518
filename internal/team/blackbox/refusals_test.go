package blackbox_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

type object = apptest.Object

// inLocale sends a request with the language of the caller.
func inLocale(s *apptest.Server, locale, method, path, token string, body any) apptest.Reply {
	s.T.Helper()
	r := s.NewRequest(method, path, token, body)
	r.Header.Set("Accept-Language", locale)
	return s.Do(r).As(method + " " + path + " in " + locale)
}

// wantMessages expects the error with its message in each language.
func wantMessages(s *apptest.Server, status int, method, path, token string, body any, texts map[string]string) {
	s.T.Helper()
	for locale, text := range texts {
		a := inLocale(s, locale, method, path, token, body)
		a.WantAt("message", text)
		if a.Status != status {
			s.T.Errorf("%s %s in %s: %d %s, want %d", method, path, locale, a.Status, a.Text, status)
		}
	}
}

var (
	takenTexts = map[string]string{
		"en": "This is already in use.", "fr": "Cette valeur est déjà utilisée.", "es": "Ya está en uso.", "it": "È già in uso.",
	}
	unknownTexts = map[string]string{
		"en": "This does not exist.", "fr": "Cet élément n’existe pas.", "es": "No existe.", "it": "Non esiste.",
	}
	notFoundTexts = map[string]string{"en": "Not found.", "fr": "Introuvable.", "es": "No se ha encontrado.", "it": "Non trovato."}
	notHeldTexts  = map[string]string{
		"en": "You cannot grant a permission that you do not have.", "fr": "Vous ne pouvez pas accorder une autorisation que vous n’avez pas.",
		"es": "No puede conceder un permiso que no tiene.", "it": "Non è possibile concedere un’autorizzazione che non si possiede.",
	}
	ownTexts = map[string]string{
		"en": "You cannot change your own role or remove yourself.", "fr": "Vous ne pouvez ni modifier votre propre rôle ni quitter l’organisation de cette façon.",
		"es": "No puede cambiar su propio rol ni darse de baja del equipo.", "it": "Non è possibile cambiare il proprio ruolo né rimuovere sé stessi.",
	}
	ownersTexts = map[string]string{
		"en": "The owner’s role cannot be changed, and the owner cannot be removed.",
		"fr": "Le rôle du propriétaire ne peut pas être modifié, et le propriétaire ne peut pas être retiré.",
		"es": "El rol del propietario no se puede cambiar, ni se puede quitar al propietario del equipo.",
		"it": "Il ruolo del proprietario non può essere cambiato e il proprietario non può essere rimosso.",
	}
	builtInTexts = map[string]string{
		"en": "Built-in roles cannot be changed or deleted.", "fr": "Les rôles prédéfinis ne peuvent être ni modifiés ni supprimés.",
		"es": "Los roles predefinidos no se pueden cambiar ni eliminar.", "it": "I ruoli predefiniti non possono essere modificati né eliminati.",
	}
)

func TestRoleFieldsAndMessages(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o, other := s.Register("owner@example.com", true), s.Register("other@example.com", true)
		s.CreateRole(o, "Editor")
		id := s.CreateRole(o, "Auditor", "team.invite", "billing.manage")
		r := editedRole{o: o, other: other, roles: o.Path("/roles"), id: id}
		s.Run(t, "a field names its error", func(t *testing.T, s *apptest.Server) { r.refusesFields(t, s) })
		s.Run(t, "a refusal has a message in each language", func(t *testing.T, s *apptest.Server) { r.hasMessages(t, s) })
		s.Run(t, "a caller without the permission gets the same error for every request", func(_ *testing.T, s *apptest.Server) { r.refusesCallers(s) })
		s.Run(t, "the longest name and all permissions are accepted", func(t *testing.T, s *apptest.Server) { r.acceptsLimits(t, s) })
		s.Run(t, "changing one field leaves the other", func(t *testing.T, s *apptest.Server) { r.changesFields(t, s) })
	})
}

// editedRole is the role that a test changes.
type editedRole struct {
	o, other apptest.Owner
	roles    string // path of all roles
	id       int64
}

func (r editedRole) path() string { return fmt.Sprintf("%s/%d", r.roles, r.id) }

func (r editedRole) refusesFields(t *testing.T, s *apptest.Server) {
	o, roles, role := r.o, r.roles, r.path()
	many := strings.Repeat("é", 256)

	// Creating and changing a role return the same errors.
	for name, tt := range map[string]struct {
		body   object
		errors object
	}{
		"name null":                 {object{"name": nil}, object{"name": []any{"This field must not be null."}}},
		"name as a number":          {object{"name": 5}, object{"name": []any{"This must be a string."}}},
		"name as a list":            {object{"name": []string{"x"}}, object{"name": []any{"This must be a string."}}},
		"name too long":             {object{"name": many}, object{"name": []any{"This must have at most 255 characters."}}},
		"name of two lines":         {object{"name": "Ed\nitor"}, object{"name": []any{"This contains characters that are not allowed."}}},
		"name with a zero":          {object{"name": "Ed\x00itor"}, object{"name": []any{"This contains characters that are not allowed."}}},
		"name taken":                {object{"name": " EDITOR "}, object{"name": []any{"This is already in use."}}},
		"name of the owner":         {object{"name": "OWNER"}, object{"name": []any{"This is already in use."}}},
		"name of a member":          {object{"name": " Member"}, object{"name": []any{"This is already in use."}}},
		"permissions null":          {object{"permissions": nil}, object{"permissions": []any{"This field must not be null."}}},
		"permissions as text":       {object{"permissions": "team.invite"}, object{"permissions": []any{"This must be a list."}}},
		"permissions as an object":  {object{"permissions": object{"0": "team.invite"}}, object{"permissions": []any{"This must be a list."}}},
		"a permission as a number":  {object{"permissions": []any{"team.invite", 1}}, object{"permissions.1": []any{"This must be a string."}}},
		"a permission in capitals":  {object{"permissions": []any{"Team.Invite"}}, object{"permissions.0": []any{"This does not exist."}}},
		"a platform's permission":   {object{"permissions": []any{"team.manage", "users.create"}}, object{"permissions.1": []any{"This does not exist."}}},
		"all permissions by a star": {object{"permissions": []any{"*"}}, object{"permissions.0": []any{"This does not exist."}}},
		"several": {object{"name": "admin", "permissions": []any{"no.1", "team.manage", "no.2"}}, object{
			"name": []any{"This is already in use."}, "permissions.0": []any{"This does not exist."}, "permissions.2": []any{"This does not exist."},
		}},
		"form and existence": {object{"name": many, "permissions": []any{"no.1"}}, object{
			"name": []any{"This must have at most 255 characters."}, "permissions.0": []any{"This does not exist."},
		}},
	} {
		for method, path := range map[string]string{"POST": roles, "PATCH": role} {
			a := s.Call(method, path, o.Token, apptest.WithChanges(object{"name": "New", "permissions": []string{}}, tt.body)).As(method + " " + name)
			a.WantAt("errors", tt.errors)
			if a.Status != 422 {
				t.Errorf("%s %s: %d %s", method, name, a.Status, a.Text)
			}
		}
	}
	s.Call("POST", roles, o.Token, nil).WantInvalid("name", "permissions")
	s.Call("POST", roles, o.Token, `{"name":`).WantRefused(400, "")
	s.Call("PATCH", role, o.Token, `[]`).WantRefused(422, "")
}

func (r editedRole) hasMessages(t *testing.T, s *apptest.Server) {
	o, roles, role := r.o, r.roles, r.path()
	wantMessages(s, 422, "POST", roles, o.Token, object{"name": "EDITOR", "permissions": []string{}}, takenTexts)
	wantMessages(s, 422, "PATCH", role, o.Token, object{"name": "editor"}, takenTexts)
	wantMessages(s, 422, "PATCH", role, o.Token, object{"permissions": []string{"none"}}, unknownTexts)
	builtIn := fmt.Sprintf("%s/%d", roles, s.RoleID(o, "member"))
	wantMessages(s, 403, "PATCH", builtIn, o.Token, object{"name": "Plain"}, builtInTexts)
	wantMessages(s, 403, "DELETE", builtIn, o.Token, nil, builtInTexts)
	for _, none := range []string{"/999999", "/-1", "/1.5", "/x", "/9223372036854775808", "/" + apptest.NoSuchID} {
		wantMessages(s, 404, "PATCH", roles+none, o.Token, `{`, notFoundTexts) // before the body is read
		s.Call("DELETE", roles+none, o.Token, nil).WantRefused(404, "")
	}
	if got := s.Call("GET", role, o.Token, nil).Status; got != http.StatusMethodNotAllowed {
		t.Errorf("GET of one role: %d", got)
	}
}

// A caller without the permission to manage roles gets the same error for every request, even for
// another tenant.
func (r editedRole) refusesCallers(s *apptest.Server) {
	o, other := r.o, r.other
	s.CreateRole(o, "Manager", "team.manage", "team.invite", "tenant.update", "billing.manage")
	manager, _ := s.Join(o, "Eve", "eve@example.com", "Manager")
	for _, tt := range []struct{ method, path string }{
		{"GET", "/roles"}, {"GET", "/roles/permissions"}, {"POST", "/roles"}, {"PATCH", "/roles/999999"}, {"DELETE", "/roles/999999"},
	} {
		for _, tenant := range []apptest.Owner{other, {Tenant: apptest.NoSuchID}, {Tenant: "acme"}} {
			s.Call(tt.method, tenant.Path(tt.path), o.Token, `{`).WantRefused(403, "")
		}
		s.Call(tt.method, o.Path(tt.path), manager, `{`).WantRefused(403, "")
		s.Call(tt.method, o.Path(tt.path), "", `{`).WantRefused(401, "")
	}
}

// acceptsLimits checks that a role can have the longest name, and all permissions in any order and
// repeated.
func (r editedRole) acceptsLimits(t *testing.T, s *apptest.Server) {
	o, roles := r.o, r.roles
	many := strings.Repeat("é", 255)
	all := []string{"api_keys.manage", "audit.view", "billing.manage", "roles.manage", "sso.manage", "team.invite", "team.manage", "tenant.update", "webhooks.manage"}
	longest := s.Call("POST", roles, o.Token, object{"name": many, "permissions": append(all, all...)}).Want(201)
	longest.WantAt("data.name", many)
	if diff := cmp.Diff([]any{"api_keys.manage", "audit.view", "billing.manage", "roles.manage", "sso.manage", "team.invite", "team.manage", "tenant.update", "webhooks.manage"}, longest.At("data.permissions")); diff != "" {
		t.Errorf("all permissions: %s", diff)
	}
	s.Call("POST", roles, o.Token, object{"name": "x", "permissions": []string{}}).Want(201).WantAt("data.permissions", []any{})
}

// Changing one field leaves the other, and unknown keys change nothing.
func (r editedRole) changesFields(t *testing.T, s *apptest.Server) {
	o, other, id, role := r.o, r.other, r.id, r.path()
	before := s.Call("PATCH", role, o.Token, object{}).Want(200)
	named := s.Call("PATCH", role, o.Token, object{"name": "  Reviewer ", "id": 1, "tenant_id": other.Tenant, "is_builtin": true, "guard_name": "api"}).Want(200)
	want := object{"message": "roles.updated", "data": object{
		"id": float64(id), "name": "Reviewer", "guard_name": "web", "tenant_id": o.Tenant, "is_builtin": false,
		"permissions": []any{"billing.manage", "team.invite"}, "users_count": 0.0,
		"created_at": before.At("data.created_at"), "updated_at": named.At("data.updated_at"),
	}}
	if diff := cmp.Diff(want, named.Body); diff != "" {
		t.Errorf("named: %s", diff)
	}
	if !named.TimeAt("data.updated_at").After(before.TimeAt("data.created_at")) {
		t.Errorf("changed at %v, created at %v", named.At("data.updated_at"), before.At("data.created_at"))
	}
	given := s.Call("PATCH", role, o.Token, object{"permissions": []string{"tenant.update", "roles.manage", "tenant.update"}}).Want(200)
	given.WantAt("data.name", "Reviewer")
	given.WantAt("data.permissions", []any{"roles.manage", "tenant.update"})
	s.CreateRole(o, "Auditor") // its former name is free
	if diff := cmp.Diff(object{"message": "roles.deleted"}, s.Call("DELETE", role, o.Token, nil).Want(200).Body); diff != "" {
		t.Errorf("deleted: %s", diff)
	}
}

func TestMemberRefusalsAndTheirOrder(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o, other, fresh := s.Register("owner@example.com", true), s.Register("other@example.com", true), s.Register("fresh@example.com", false)
		s.CreateRole(o, "Manager", "team.manage")
		manager, managerID := s.Join(o, "Max", "max@example.com", "Manager")
		_, id := s.Join(o, "Bob", "bob@example.com", "member")
		ownerID, strangerID := s.UserID(o.Token), s.UserID(other.Token)
		admin, member := s.RoleID(o, "admin"), s.RoleID(o, "member")
		m := refusedMembers{
			o: o, manager: manager, managerID: managerID, memberID: id, ownerID: ownerID, strangerID: strangerID, admin: admin, member: member,
		}
		s.Run(t, "the caller is checked first", func(_ *testing.T, s *apptest.Server) { m.refusesCallers(s, other, fresh) })
		s.Run(t, "the target and the body come next", func(t *testing.T, s *apptest.Server) { m.refusesTargets(t, s) })
		s.Run(t, "the rules of the team come last", func(t *testing.T, s *apptest.Server) { m.keepsRules(t, s) })
		s.Run(t, "nothing has changed, and the same role again is not an error", func(t *testing.T, s *apptest.Server) { m.changesNothing(t, s) })
	})
}

// refusedMembers is a team with a manager who may not change everything.
type refusedMembers struct {
	o                                        apptest.Owner
	manager                                  string // token
	managerID, memberID, ownerID, strangerID int64
	admin, member                            int64 // roles
}

func (m refusedMembers) at(id any) string { return fmt.Sprintf("%s/members/%v", m.o.Path("/team"), id) }

func giveRole(role any) object { return object{"role_id": role} }

// The checks run in this order: the caller, the target, whether the body can be decoded, its
// fields, and finally the rules of the team.
func (m refusedMembers) refusesCallers(s *apptest.Server, other, fresh apptest.Owner) {
	o := m.o
	for _, tt := range []struct{ method, path string }{
		{"GET", "/team/members"},
		{"GET", "/team/roles"},
		{"GET", "/team/stats"},
		{"PATCH", "/team/members/999999/role"},
		{"DELETE", "/team/members/999999"},
	} {
		call := func(o apptest.Owner, token string) apptest.Reply {
			return s.Call(tt.method, o.Path(tt.path), token, `{`)
		}
		call(o, "").WantRefused(401, "")
		call(o, "nonsense").WantRefused(401, "")
		for _, tenant := range []apptest.Owner{other, fresh, {Tenant: apptest.NoSuchID}, {Tenant: "acme"}} {
			call(tenant, o.Token).WantRefused(403, "")
		}
		call(fresh, fresh.Token).WantRefused(403, "ONBOARDING_INCOMPLETE")
	}
}

func (m refusedMembers) refusesTargets(t *testing.T, s *apptest.Server) {
	o, at, manager, managerID, member, ownerID := m.o, m.at, m.manager, m.managerID, m.member, m.ownerID
	for _, nobody := range []any{m.strangerID, 0, -1, "1.5", "x", "9223372036854775808", apptest.NoSuchID, "%00"} {
		s.Call("PATCH", at(nobody)+"/role", o.Token, `{`).As(fmt.Sprint(nobody)).WantRefused(404, "")
		s.Call("DELETE", at(nobody), o.Token, nil).As(fmt.Sprint(nobody)).WantRefused(404, "")
	}
	wantMessages(s, 404, "DELETE", at(m.strangerID), o.Token, nil, notFoundTexts)
	s.Call("PATCH", at(managerID)+"/role", manager, `{`).WantRefused(400, "")
	s.Call("PATCH", at(managerID)+"/role", manager, `[5]`).WantRefused(422, "")
	for _, tt := range []struct {
		role any
		want string
	}{
		{nil, "This field must not be null."},
		{"admin", "This must be an integer."},
		{1.5, "This must be an integer."},
		{true, "This must be an integer."},
		{[]int64{member}, "This must be an integer."},
	} {
		a := s.Call("PATCH", at(managerID)+"/role", manager, giveRole(tt.role)).As(fmt.Sprintf("role %v", tt.role))
		a.WantInvalid("role_id")
		a.WantAt("message", tt.want)
	}
	s.Call("PATCH", at(ownerID)+"/role", manager, object{"role": member}).WantInvalid("role_id")
}

// The rules concern the actor's own role, the owner's role, an unknown role, and a role with more
// permissions.
func (m refusedMembers) keepsRules(t *testing.T, s *apptest.Server) {
	o, at, manager, managerID, id, member, admin, ownerID := m.o, m.at, m.manager, m.managerID, m.memberID, m.member, m.admin, m.ownerID
	give := giveRole
	for _, role := range []any{member, admin, 999999, s.RoleID(o, "owner")} {
		s.Call("PATCH", at(managerID)+"/role", manager, give(role)).WantAt("message", ownTexts["en"])
		s.Call("PATCH", at(ownerID)+"/role", manager, give(role)).WantAt("message", ownersTexts["en"])
	}
	wantMessages(s, 403, "PATCH", at(ownerID)+"/role", o.Token, give(admin), ownTexts) // the owner's own role counts as own
	wantMessages(s, 403, "DELETE", at(ownerID), o.Token, nil, ownTexts)
	wantMessages(s, 403, "DELETE", at(managerID), manager, nil, ownTexts)
	wantMessages(s, 403, "PATCH", at(ownerID)+"/role", manager, give(member), ownersTexts)
	wantMessages(s, 403, "DELETE", at(ownerID), manager, nil, ownersTexts)
	wantMessages(s, 422, "PATCH", at(id)+"/role", manager, give(999999), unknownTexts)
	wantMessages(s, 422, "PATCH", at(id)+"/role", o.Token, give(s.RoleID(o, "owner")), unknownTexts)
	wantMessages(s, 403, "PATCH", at(id)+"/role", manager, give(admin), notHeldTexts)
}

// Nothing has changed, and setting the same role again is not an error.
func (m refusedMembers) changesNothing(t *testing.T, s *apptest.Server) {
	o, at, manager, managerID, id, member, admin, ownerID := m.o, m.at, m.manager, m.managerID, m.memberID, m.member, m.admin, m.ownerID
	list := s.Call("GET", o.Path("/team/members"), manager, nil).Want(200)
	if diff := cmp.Diff([]any{float64(ownerID), float64(managerID), float64(id)}, list.Column("id")); diff != "" {
		t.Errorf("members: %s", diff)
	}
	list.WantAt("data.2.role", object{"id": float64(member), "name": "member"})
	a := s.Call("PATCH", at(id)+"/role", manager, giveRole(member)).Want(200)
	if diff := cmp.Diff(object{"message": "team.role_changed"}, a.Body); diff != "" {
		t.Errorf("changed: %s", diff)
	}
	roles := s.Call("GET", o.Path("/team/roles"), manager, nil).Want(200)
	if diff := cmp.Diff(any(object{"id": float64(admin), "name": "admin"}), roles.At("data.0")); diff != "" {
		t.Errorf("role: %s", diff)
	}
	if diff := cmp.Diff(object{"message": "team.member_removed"}, s.Call("DELETE", at(id), manager, nil).Want(200).Body); diff != "" {
		t.Errorf("removed: %s", diff)
	}
}

func TestAdminMemberFieldsAndScope(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o, other, admin := s.Register("owner@example.com", true), s.Register("other@example.com", true), s.Admin()
		_, id := s.Join(o, "Bob", "bob@example.com", "member")
		bob := fmt.Sprintf("%s/members/%d", adminTeam(o), id)
		for _, tt := range []struct{ method, below string }{
			{"GET", "/members"},
			{"PATCH", fmt.Sprintf("/members/%d", id)},
			{"PATCH", fmt.Sprintf("/members/%d/role", id)},
			{"DELETE", fmt.Sprintf("/members/%d", id)},
			{"GET", "/invitations"},
			{"POST", "/invitations"},
		} {
			s.Call(tt.method, adminTeam(o)+tt.below, "", `{`).WantRefused(401, "")
			s.Call(tt.method, adminTeam(o)+tt.below, o.Token, `{`).WantRefused(403, "")
			s.Call(tt.method, noTenant+tt.below, admin, `{`).WantRefused(404, "")
			s.Call(tt.method, "/api/v1/admin/tenants/acme"+tt.below, admin, `{`).WantRefused(404, "")
			if tt.method != "GET" && tt.below != "/invitations" { // Bob belongs to another tenant
				s.Call(tt.method, adminTeam(other)+tt.below, admin, `{`).WantRefused(404, "")
			}
		}
		for _, tt := range []struct {
			locale      string
			body        object
			field, want string
		}{
			{"en", object{"name": strings.Repeat("é", 256)}, "name", "This must have at most 255 characters."},
			{"fr", object{"name": nil}, "name", "Ce champ ne peut pas être null."},
			{"es", object{"name": 7}, "name", "Debe ser una cadena de texto."},
			{"it", object{"name": "B\nob"}, "name", "Contiene caratteri non consentiti."},
			{"en", object{"password": nil}, "password", "This field must not be null."},
			{"fr", object{"password": "ééééééé"}, "password", "Saisissez au moins 8 caractères."},
			{"es", object{"password": strings.Repeat("x", 1025)}, "password", "Debe tener como máximo 1.024 caracteres."},
			{"it", object{"password": 12345678}, "password", "Deve essere una stringa."},
		} {
			a := inLocale(s, tt.locale, "PATCH", bob, admin, tt.body)
			a.WantInvalid(tt.field)
			a.WantAt("message", tt.want)
		}
		s.Call("PATCH", bob, admin, object{"name": strings.Repeat("é", 256), "password": "short"}).WantInvalid("name", "password")
		s.Call("PATCH", bob, admin, object{"name": "Robert", "password": "short"}).WantInvalid("password") // all or nothing
		longest := strings.Repeat("é", 255)
		a := s.Call("PATCH", bob, admin, object{"name": "  " + longest + " ", "email": "robert@example.com", "role": "admin"}).Want(200)
		want := object{"message": "team.member_updated", "data": object{
			"id": float64(id), "name": longest, "email": "bob@example.com", "avatar": nil, "mfa_enabled": false,
			"role": object{"id": float64(s.RoleID(o, "member")), "name": "member"}, "joined_at": a.At("data.joined_at"),
		}}
		if diff := cmp.Diff(want, a.Body); diff != "" {
			t.Errorf("renamed: %s", diff)
		}
		trail := s.Call("GET", "/api/v1/admin/audit-logs", admin, nil)
		trail.WantAt("data.0.action", "member.renamed")
		trail.WantAt("data.0.before", object{"name": "Bob"})
		trail.WantAt("data.0.after", object{"name": longest})
	})
}
