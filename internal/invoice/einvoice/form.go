package einvoice

import "encoding/xml"

// document has the Factur-X elements in use. Their order is significant.

type document struct {
	XMLName xml.Name `xml:"rsm:CrossIndustryInvoice"`
	RSM     string   `xml:"xmlns:rsm,attr"`
	RAM     string   `xml:"xmlns:ram,attr"`
	UDT     string   `xml:"xmlns:udt,attr"`

	Guideline string `xml:"rsm:ExchangedDocumentContext>ram:GuidelineSpecifiedDocumentContextParameter>ram:ID"`
	ID        string `xml:"rsm:ExchangedDocument>ram:ID"`
	Type      string `xml:"rsm:ExchangedDocument>ram:TypeCode"`
	Issued    date   `xml:"rsm:ExchangedDocument>ram:IssueDateTime>udt:DateTimeString"`
	Trade     trade  `xml:"rsm:SupplyChainTradeTransaction"`
}

type date struct {
	Format string `xml:"format,attr"`
	Day    string `xml:",chardata"`
}

type trade struct {
	Lines     []line `xml:"ram:IncludedSupplyChainTradeLineItem"`
	Agreement struct {
		Seller party `xml:"ram:SellerTradeParty"`
		Buyer  party `xml:"ram:BuyerTradeParty"`
	} `xml:"ram:ApplicableHeaderTradeAgreement"`
	Delivery   struct{}   `xml:"ram:ApplicableHeaderTradeDelivery"`
	Settlement settlement `xml:"ram:ApplicableHeaderTradeSettlement"`
}

type line struct {
	ID    string `xml:"ram:AssociatedDocumentLineDocument>ram:LineID"`
	Name  string `xml:"ram:SpecifiedTradeProduct>ram:Name"`
	Price struct {
		Amount string `xml:"ram:ChargeAmount"`
		Per    units  `xml:"ram:BasisQuantity"`
	} `xml:"ram:SpecifiedLineTradeAgreement>ram:NetPriceProductTradePrice"`
	Quantity units   `xml:"ram:SpecifiedLineTradeDelivery>ram:BilledQuantity"`
	Tax      tax     `xml:"ram:SpecifiedLineTradeSettlement>ram:ApplicableTradeTax"`
	Period   *period `xml:"ram:SpecifiedLineTradeSettlement>ram:BillingSpecifiedPeriod"`
	Total    string  `xml:"ram:SpecifiedLineTradeSettlement>ram:SpecifiedTradeSettlementLineMonetarySummation>ram:LineTotalAmount"`
}

type units struct {
	Code   string `xml:"unitCode,attr"`
	Number string `xml:",chardata"`
}

type period struct {
	Start date `xml:"ram:StartDateTime>udt:DateTimeString"`
	End   date `xml:"ram:EndDateTime>udt:DateTimeString"`
}

type tax struct {
	Amount     string `xml:"ram:CalculatedAmount,omitempty"`
	Type       string `xml:"ram:TypeCode"`
	Reason     string `xml:"ram:ExemptionReason,omitempty"`
	Basis      string `xml:"ram:BasisAmount,omitempty"`
	Category   string `xml:"ram:CategoryCode"`
	ReasonCode string `xml:"ram:ExemptionReasonCode,omitempty"`
	Rate       string `xml:"ram:RateApplicablePercent"`
}

type party struct {
	Name    string        `xml:"ram:Name"`
	Address address       `xml:"ram:PostalTradeAddress"`
	VAT     *registration `xml:"ram:SpecifiedTaxRegistration"`
}

type registration struct {
	ID id `xml:"ram:ID"`
}

type id struct {
	Scheme string `xml:"schemeID,attr"`
	Number string `xml:",chardata"`
}

type address struct {
	Postcode string `xml:"ram:PostcodeCode,omitempty"`
	One      string `xml:"ram:LineOne,omitempty"`
	Two      string `xml:"ram:LineTwo,omitempty"`
	Three    string `xml:"ram:LineThree,omitempty"`
	City     string `xml:"ram:CityName,omitempty"`
	Country  string `xml:"ram:CountryID"`
	Region   string `xml:"ram:CountrySubDivisionName,omitempty"`
}

type settlement struct {
	Currency string `xml:"ram:InvoiceCurrencyCode"`
	Means    string `xml:"ram:SpecifiedTradeSettlementPaymentMeans>ram:TypeCode"`
	Tax      tax    `xml:"ram:ApplicableTradeTax"`
	Terms    *terms `xml:"ram:SpecifiedTradePaymentTerms"`
	Sums     sums   `xml:"ram:SpecifiedTradeSettlementHeaderMonetarySummation"`
	// Credited is the invoice that a credit note corrects (BG-3).
	Credited *reference `xml:"ram:InvoiceReferencedDocument"`
}

type reference struct {
	Number string `xml:"ram:IssuerAssignedID"`
}

type terms struct {
	Due date `xml:"ram:DueDateDateTime>udt:DateTimeString"`
}

type sums struct {
	Lines string `xml:"ram:LineTotalAmount"`
	Basis string `xml:"ram:TaxBasisTotalAmount"`
	Tax   money  `xml:"ram:TaxTotalAmount"`
	Total string `xml:"ram:GrandTotalAmount"`
	Paid  string `xml:"ram:TotalPrepaidAmount"`
	Due   string `xml:"ram:DuePayableAmount"`
}

type money struct {
	Currency string `xml:"currencyID,attr"`
	Amount   string `xml:",chardata"`
}
