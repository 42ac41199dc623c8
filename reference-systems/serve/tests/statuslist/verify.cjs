// Fetches lists as JWT and checks them with @sd-jwt/jwt-status-list; the signature with
// Node's own cryptography. The argument is JSON:
// {"keys": a JWK set, "lists": [{"uri", "bits", "size", "statuses"}]}.

const assert = require('node:assert');
const crypto = require('node:crypto');
const { getListFromStatusListJWT } = require('@sd-jwt/jwt-status-list');

async function main() {
  const told = JSON.parse(process.argv[2]);
  let statuses = 0;
  for (const expected of told.lists) {
    const answer = await fetch(expected.uri, { headers: { Accept: 'application/statuslist+jwt' } });
    assert.strictEqual(answer.status, 200);
    const token = await answer.text();
    const [header, payload, signature] = token.split('.');
    const { kid, alg } = JSON.parse(Buffer.from(header, 'base64url'));
    assert.strictEqual(alg, 'ES256');
    const jwk = told.keys.keys.find((key) => key.kid === kid);
    const key = crypto.createPublicKey({ key: jwk, format: 'jwk' });
    const fits = (message) =>
      crypto.verify('sha256', Buffer.from(message), { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'));
    assert(fits(`${header}.${payload}`), 'the signature does not fit');
    assert(!fits(`${header}.${payload}x`), 'the signature fits anything');
    const list = getListFromStatusListJWT(token);
    assert.strictEqual(list.getBitsPerStatus(), expected.bits);
    for (let index = 0; index < expected.size; index++) {
      assert.strictEqual(list.getStatus(index), expected.statuses[index] ?? 0, `index ${index}`);
    }
    statuses += Object.keys(expected.statuses).length;
  }
  console.log(`verified ${told.lists.length} lists, ${statuses} statuses set`);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
