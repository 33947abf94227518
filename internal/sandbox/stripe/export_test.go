package stripe

import "context"

// ReplaceCard does what a person does who gives another card and pays with it.
func (s *Server) ReplaceCard(ctx context.Context, customerID, number string) error {
	if err := s.settle(ctx); err != nil {
		return err
	}
	return s.write(ctx, func(ctx context.Context, st *step) error {
		cu, err := st.liveCustomer(ctx, customerID, "customer")
		if err != nil {
			return err
		}
		found, _ := readCard(number)
		pm, err := st.attach(ctx, found, cu)
		if err != nil {
			return err
		}
		if err := st.setDefaultCard(ctx, cu, pm); err != nil {
			return err
		}
		return st.payOpenInvoices(ctx, customerID)
	})
}
