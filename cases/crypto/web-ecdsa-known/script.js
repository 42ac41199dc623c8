const jwk = { kty: 'EC', crv: 'P-256', x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU', y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0', d: 'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI' };
const data = new Uint8Array([1, 2, 3]);
export default async function () {
  const { subtle } = crypto;
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const key = await subtle.importKey('jwk', jwk, algorithm, true, ['sign']);
  const { d, ...shared } = jwk;
  const open = await subtle.importKey('jwk', shared, algorithm, true, ['verify']);
  const signature = await subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, data);
  console.log(signature.byteLength, await subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, open, signature, data), await subtle.verify({ name: 'ECDSA', hash: 'SHA-384' }, open, signature, data));
  console.log(new Uint8Array(await subtle.exportKey('raw', open)).length, (await subtle.exportKey('spki', open)).byteLength, (await subtle.exportKey('pkcs8', key)).byteLength);
  const back = await subtle.exportKey('jwk', open);
  console.log(back.kty, back.crv, back.x === jwk.x, back.y === jwk.y, back.d);
}
