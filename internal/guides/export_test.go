package guides

// LeftOut holds the pages that are not on the site.
var LeftOut = leftOut

// Build renders the site.
func (s *Site) Build() error {
	_, err := s.build()
	return err
}
