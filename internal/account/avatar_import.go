package account

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/safehttp"
)

// jobImportAvatar is the job that gets a user's picture from an identity
// provider.
const jobImportAvatar = "account.import-avatar"

// webLane is where jobs run that wait for servers which users name.
const webLane = "web"

// PictureClient gets what a URL from outside names; a *safehttp.Client is one.
type PictureClient interface {
	Get(ctx context.Context, address string) (safehttp.Response, error)
}

type avatarImport struct {
	UserID int64  `json:"user_id"`
	URL    string `json:"url"`
}

// Import gives a user the picture that an identity provider names, in the
// background, once the transaction of ctx has committed (spec: Authentication
// and account endpoints, rule 2). It leaves an avatar alone that the user has
// chosen, or has chosen not to have, whenever that was.
func (a *Avatars) Import(ctx context.Context, userID int64, url string) error {
	if url == "" {
		return nil
	}
	return a.deps.Jobs.Enqueue(ctx, jobImportAvatar, avatarImport{UserID: userID, URL: url})
}

func (a *Avatars) importPicture(ctx context.Context, job jobs.Job) error {
	var i avatarImport
	if err := job.Decode(&i); err != nil {
		return err
	}
	file, err := a.download(ctx, i.URL)
	if err != nil {
		return err
	}
	p, err := a.pictures.square(ctx, file)
	if _, refused := errors.AsType[*fault.Error](err); refused {
		return jobs.Fatal(err)
	}
	if err != nil {
		return err
	}
	return a.replace(ctx, i.UserID, &p, false)
}

// download gets a picture; what another attempt cannot cure is Fatal.
func (a *Avatars) download(ctx context.Context, url string) ([]byte, error) {
	resp, err := a.deps.Pictures.Get(ctx, url)
	switch {
	case errors.Is(err, safehttp.ErrForbidden), errors.Is(err, safehttp.ErrTooLarge):
		return nil, jobs.Fatal(err)
	case err != nil:
		return nil, err
	case resp.Status == http.StatusOK:
		return resp.Body, nil
	}
	err = fmt.Errorf("the picture's server answered %d", resp.Status)
	if resp.Status == http.StatusTooManyRequests || resp.Status == http.StatusRequestTimeout || resp.Status >= 500 {
		return nil, err
	}
	return nil, jobs.Fatal(err)
}
