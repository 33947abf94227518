SwaggerUIBundle({
  url: "../openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  operationsSorter: "alpha",
  showExtensions: true,
  tagsSorter: "alpha",
  validatorUrl: null,
});
