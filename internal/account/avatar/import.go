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

// JobImport is the kind of job that downloads a user's picture from an identity provider.
const JobImport = "account.import-avatar"

// PictureClient downloads from untrusted URLs. *safehttp.Client implements it.
type PictureClient interface {
	// Get downloads the resource at address. It returns responses of any status.
	Get(ctx context.Context, address string) (safehttp.Response, error)
}

type importJob struct {
	UserID int64  `json:"user_id"`
	URL    string `json:"url"`
}

// Import sets the avatar of a user to the picture at url, which an identity provider supplied. It
// downloads the picture in the background after the transaction of ctx has committed. A choice of
// the user (an upload or a removal) takes precedence, whether made before or after this call. It
// does nothing if url is empty.
func (s *Service) Import(ctx context.Context, userID int64, url string) error {
	if url == "" {
		return nil
	}
	return s.deps.Jobs.Enqueue(ctx, JobImport, importJob{UserID: userID, URL: url})
}

// HandleImport handles JobImport. It downloads a picture and stores it, unless the user has chosen
// an avatar.
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

// download downloads a picture. It marks permanent errors as fatal for the job.
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
	err = fmt.Errorf("the picture server returned %d", resp.Status)
	if resp.Status == http.StatusTooManyRequests || resp.Status == http.StatusRequestTimeout || resp.Status >= 500 {
		return nil, err
	}
	return nil, jobs.MarkFatal(err)
}
