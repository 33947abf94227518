// A certified identity provider by other authors, for the tests of delegated
// login. It prints its issuer and exits at the end of its standard input.
import { createServer } from "node:http";
import Provider from "oidc-provider";

const [, , redirectURI, clientSecret] = process.argv;

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "tenantry",
        client_secret: clientSecret,
        redirect_uris: [redirectURI],
        response_types: ["code"],
        grant_types: ["authorization_code"],
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    features: { devInteractions: { enabled: true } },
    pkce: { required: () => true },
    cookies: { keys: ["only-for-tests"] },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: id, email_verified: !id.startsWith("unverified"), name: `Name of ${id}` }),
    }),
  });
  server.on("request", provider.callback());
  console.log(issuer);
});

process.stdin.resume().on("end", () => process.exit(0));
