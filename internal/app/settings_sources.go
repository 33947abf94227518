package app

import (
	"context"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/settings"
)

// SettingSource is a setting of the service as admins see it
// (rules: settings#where-settings-come-from).
type SettingSource struct {
	Variable *string         `json:"variable" doc:"Environment variable of the setting. Null if only a flag sets it."`
	Flag     *string         `json:"flag" doc:"Command-line flag of the setting. Null for a secret that only the environment or a file sets."`
	Group    string          `json:"group" enum:"demo,http,brand,invoice,lifetime,retention,payment,usage,store,external" doc:"Subject of the setting."`
	About    string          `json:"about" doc:"Description in the language of the request."`
	Default  *string         `json:"default" doc:"Default value, or its description in the language of the request. Null without a default."`
	Value    *string         `json:"value" doc:"Text of the setting. Null for the default and for a secret."`
	IsSecret bool            `json:"is_secret" doc:"Whether the value is a secret, which is never returned."`
	Source   settings.Origin `json:"source" enum:"default,environment,flag,file" doc:"Where the value comes from. default means that the setting is not set, file that a file contains the secret."`
}

// sourcesHTTP handles the settings of the service for admins.
type sourcesHTTP struct{ all []settings.Source }

// List handles GET /admin/settings.
func (h sourcesHTTP) List(ctx context.Context, _ *struct{}) (*rest.Data[[]SettingSource], error) {
	list := make([]SettingSource, len(h.all))
	for i, s := range h.all {
		about, fallback := s.Text(i18n.Locale(ctx))
		list[i] = SettingSource{
			Variable: nilIfEmpty(s.Variable), Flag: nilIfEmpty(s.Flag), Group: s.Group, About: about, Default: nilIfEmpty(fallback),
			Value: nilIfEmpty(s.Value), IsSecret: s.IsSecret, Source: s.Origin,
		}
	}
	return rest.OK(list), nil
}
