import crypto from 'k6/crypto';
import encoding from 'k6/encoding';
function sign(payload, secret, hash) {
  const head = encoding.b64encode(JSON.stringify({ typ: 'JWT', alg: 'HS256' }), 'rawurl');
  const body = encoding.b64encode(JSON.stringify(payload), 'rawurl');
  const h = crypto.createHMAC(hash, secret);
  h.update(`${head}.${body}`);
  return `${head}.${body}.${h.digest('base64').replace(/\//g, '_').replace(/\+/g, '-').replace(/=/g, '')}`;
}
export default function () {
  const token = sign({ sub: '42', name: 'Adä', n: 1.5 }, 'secret', 'sha256');
  console.log(token);
  console.log(JSON.stringify(JSON.parse(encoding.b64decode(token.split('.')[1], 'rawurl', 's'))));
}
