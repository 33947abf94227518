package catalog

import (
	"context"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// AdminFeatures handles GET /admin/features.
func (h *HTTP) AdminFeatures(ctx context.Context, _ *noInput) (*rest.Body[page.Page[AdminFeature]], error) {
	q, err := h.FeatureList().Parse(rest.RequestOf(ctx).Query())
	if err != nil {
		return nil, err
	}
	features, total, err := h.svc.Features(ctx, q)
	if err != nil {
		return nil, err
	}
	return rest.NewBody(page.New(q, h.publicURL+"/api/v1/admin/features", viewAll(features, adminFeature), total)), nil
}

type featureInput struct {
	Feature string `path:"feature" format:"uuid"`
}

// AdminFeature handles GET /admin/features/{feature}.
func (h *HTTP) AdminFeature(ctx context.Context, in *featureInput) (*rest.Data[AdminFeature], error) {
	id, err := shape.ParseID(in.Feature)
	if err != nil {
		return nil, err
	}
	f, err := h.svc.Feature(ctx, id)
	if err != nil {
		return nil, err
	}
	return rest.OK(adminFeature(f)), nil
}

// FeatureExists is the rest.Exists check for routes with {feature}.
func (h *HTTP) FeatureExists(ctx context.Context, param func(string) string) error {
	return exists(ctx, param("feature"), h.svc.Feature)
}

type createFeatureInput struct {
	Body struct {
		Code        string       `json:"code" maxLength:"255" pattern:"^[A-Za-z0-9_-]+$"`
		Name        shape.Texts  `json:"name" format:"name" maxLength:"255"`
		Description shape.Texts  `json:"description,omitempty" nullable:"true" maxLength:"65535" format:"multiline"`
		IsActive    *bool        `json:"is_active,omitempty" default:"true"`
		SortOrder   int32        `json:"sort_order,omitempty" minimum:"0" default:"0" doc:"Position in lists, lowest first. Features with the same position are sorted by code."`
		Metadata    shape.Object `json:"metadata,omitempty" nullable:"true" maxBytes:"16384"`
	}
}

func (in *createFeatureInput) feature() Feature {
	b := in.Body
	return Feature{
		Code: b.Code, Name: newText(b.Name), Description: newText(b.Description),
		IsActive: boolOrTrue(b.IsActive), SortOrder: b.SortOrder, Metadata: sqldb.JSON(b.Metadata),
	}
}

// CheckCreateFeature is the rest.Checks check for CreateFeature.
func (h *HTTP) CheckCreateFeature(ctx context.Context, in *createFeatureInput) error {
	return h.svc.CheckFeature(ctx, in.feature())
}

// CreateFeature handles POST /admin/features.
func (h *HTTP) CreateFeature(ctx context.Context, in *createFeatureInput) (*rest.Data[AdminFeature], error) {
	f, err := h.svc.CreateFeature(ctx, in.feature())
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(adminFeature(f), "features.created"), nil
}

type updateFeatureInput struct {
	Feature string `path:"feature" format:"uuid"`
	Body    struct {
		Code      shape.Opt[string] `json:"code,omitzero" minLength:"1" maxLength:"255" pattern:"^[A-Za-z0-9_-]+$" doc:"Stable identifier for use in code. The code of a system feature cannot be changed."`
		SortOrder shape.Opt[int32]  `json:"sort_order,omitzero" minimum:"0"`
		recordChange
	}
}

func (in *updateFeatureInput) change(f *Feature) {
	f.Code = in.Body.Code.OrValue(f.Code)
	f.SortOrder = in.Body.SortOrder.OrValue(f.SortOrder)
	in.Body.apply(&f.Name, &f.Description, &f.IsActive, &f.Metadata)
}

// CheckUpdateFeature is the rest.Checks check for UpdateFeature.
func (h *HTTP) CheckUpdateFeature(ctx context.Context, in *updateFeatureInput) error {
	id, err := shape.ParseID(in.Feature)
	if err != nil {
		return err
	}
	return h.svc.CheckFeatureChange(ctx, id, in.change)
}

// UpdateFeature handles PATCH /admin/features/{feature}.
func (h *HTTP) UpdateFeature(ctx context.Context, in *updateFeatureInput) (*rest.Data[AdminFeature], error) {
	id, err := shape.ParseID(in.Feature)
	if err != nil {
		return nil, err
	}
	f, err := h.svc.UpdateFeature(ctx, id, in.change)
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(adminFeature(f), "features.updated"), nil
}

// DeleteFeature handles DELETE /admin/features/{feature}.
func (h *HTTP) DeleteFeature(ctx context.Context, in *featureInput) (*rest.NoBody, error) {
	id, err := shape.ParseID(in.Feature)
	if err != nil {
		return nil, err
	}
	return &rest.NoBody{}, h.svc.DeleteFeature(ctx, id)
}
