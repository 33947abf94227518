package commands_test

// richCatalog uses every field of the format, in the order and form of an export: translations,
// quotes, emoji, multi-line texts, metadata, currencies with no and with three decimals, links, and
// a custom interval.
const richCatalog = `currencies:
  - code: EUR
    name: Euro
    symbol: €
    minor_units: 2
  - code: JPY
    name: Yen
    symbol: ¥
    minor_units: 0
  - code: KWD
    name: Kuwaiti Dinar
    symbol: د.ك
    minor_units: 3
    is_active: false
features:
  - code: sso
    name:
      en: 'Single "sign-on": yes'
      fr: L’authentification unique
    description:
      en: |-
        One line,
          another one, indented

        and a last one # with a sign.
    is_active: false
    metadata:
      a:
        - 1
        - -0.25
        - "1e3"
        - null
        - true
        - {}
      big: 123456789012345678901234567890
      text: "tab\tand \"quotes\""
  - code: team-members
    name:
      en: Team members
      es: Miembros del equipo
      fr: Membres de l’équipe
      it: Membri del team
products:
  - slug: main
    name:
      en: "Main \U0001F389"
    metadata:
      color: red
    plans:
      - slug: b-first
        name:
          en: First
        pricing_type: seat
        billing_cycle: monthly
        interval_unit: day
        interval_count: 10
        trial_days: 14
        sort_order: 1
        is_active: false
        prices:
          EUR:
            price_cents: 1900
            psp_price_id: price_main_eur
          JPY: 3000
          KWD: 5120
        entitlements:
          sso: true
          team-members: 5
      - slug: a-second
        name:
          en: Second
        description:
          en: "Text\r\nof Windows"
        pricing_type: usage
        billing_cycle: yearly
        sort_order: 2
        metadata: {}
meters:
  - code: calls
    name: 'Calls: all'
    aggregation_type: sum
    reset_interval: monthly
    quota_enforcement: hard
    unit_label: calls
    prices:
      EUR:
        unit_price_cents: 0.000000000001
        psp_price_id: price_calls
      KWD: 12.5
  - code: disk
    name: Disk
    aggregation_type: last_value
    reset_interval: none
    quota_enforcement: soft
    is_active: false
`
