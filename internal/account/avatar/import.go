package avatar

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/safehttp"
)

// JobImport is the kind of the jobs that download a user's picture from an
// identity provider.
const JobImport = "account.import-avatar"

// PictureClient downloads from URLs that outsiders chose; a *safehttp.Client is
// one.
type PictureClient interface {
	// Get downloads what is at address, whatever the status of the answer.
	Get(ctx context.Context, address string) (safehttp.Response, error)
}

type importJob struct {
	UserID int64  `json:"user_id"`
	URL    string `json:"url"`
}

// Import gives a user the picture at url, which an identity provider named. It is
// downloaded in the background once the transaction of ctx has committed. An
// avatar that the user has chosen stays, and so does the choice to have none,
// whether made before or after this call. An empty url does nothing.
func (s *Service) Import(ctx context.Context, userID int64, url string) error {
	if url == "" {
		return nil
	}
	return s.deps.Jobs.Enqueue(ctx, JobImport, importJob{UserID: userID, URL: url})
}

// HandleImport is the handler of JobImport: it downloads a picture and stores it,
// unless the user has chosen one meanwhile.
func (s *Service) HandleImport(ctx context.Context, job jobs.Job) error {
	var in importJob
	if err := job.Decode(&in); err != nil {
		return err
	}
	file, err := s.download(ctx, in.URL)
	if err != nil {
		return err
	}
	p, err := s.pictures.makeAvatar(ctx, file)
	if _, refused := errors.AsType[*fault.Error](err); refused {
		return jobs.MarkFatal(err)
	}
	if err != nil {
		return err
	}
	return s.replace(ctx, in.UserID, &p, false)
}

// download gets the file of a picture. Errors that another attempt cannot cure are
// marked jobs.Fatal.
func (s *Service) download(ctx context.Context, url string) ([]byte, error) {
	resp, err := s.deps.Pictures.Get(ctx, url)
	switch {
	case errors.Is(err, safehttp.ErrForbidden), errors.Is(err, safehttp.ErrTooLarge):
		return nil, jobs.MarkFatal(err)
	case err != nil:
		return nil, err
	case resp.Status == http.StatusOK:
		return resp.Body, nil
	}
	err = fmt.Errorf("the picture's server answered %d", resp.Status)
	if resp.Status == http.StatusTooManyRequests || resp.Status == http.StatusRequestTimeout || resp.Status >= 500 {
		return nil, err
	}
	return nil, jobs.MarkFatal(err)
}
