package settings

import (
	"path/filepath"
	"strconv"
	"time"

	"github.com/tenantry/tenantry/internal/usage/retention"
)

const maxRetentionDays = 36_500

// usage reads the retention and the archive folder of usage events.
func (p *parser) usage(f UsageFlags, s *Settings) {
	const minDays = int(retention.MinRetention / (24 * time.Hour))
	if f.UsageRetention != "" {
		days, err := strconv.Atoi(f.UsageRetention)
		if err != nil || days < minDays || days > maxRetentionDays {
			p.fail("TENANTRY_USAGE_RETENTION", "%q is not a number of days from %d to %d", f.UsageRetention, minDays, maxRetentionDays)
		}
		s.UsageRetention = time.Duration(days) * 24 * time.Hour
	}
	if f.UsageArchive == "" {
		return
	}
	if f.UsageRetention == "" {
		p.fail("TENANTRY_USAGE_ARCHIVE", "requires TENANTRY_USAGE_RETENTION: otherwise events are never deleted")
	}
	path, err := filepath.Abs(f.UsageArchive)
	if err != nil {
		p.fail("TENANTRY_USAGE_ARCHIVE", "%v", err)
	}
	s.UsageArchive = path
}
