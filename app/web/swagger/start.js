// Beside the page and not in it: the content security policy allows no inline script.
window.SwaggerUIBundle({
  url: "/api/v1/openapi.json",
  dom_id: "#swagger-ui",
  presets: [window.SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  deepLinking: true,
  docExpansion: "none", // to draw all routes at once takes a slow machine half a minute
  validatorUrl: null, // by default, the description is sent to a validator on the internet
});
