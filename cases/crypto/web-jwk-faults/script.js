export default async function () {
  for (const jwk of [{}, null, 'text', { kty: 'oct' }, { kty: 'RSA', k: 'AAAA' }, { kty: 'oct', k: '!!' }, { kty: 'oct', k: 'AAAA' }, { kty: 'oct', k: 'AAAAAAAAAAAAAAAAAAAAAA', alg: 'A256CBC' }, { kty: 'oct', k: 'AAAAAAAAAAAAAAAAAAAAAA', ext: false }, { kty: 'oct', k: 'AAAAAAAAAAAAAAAAAAAAAA', key_ops: ['decrypt'] }, { kty: 'oct', k: 'AAAAAAAAAAAAAAAAAAAAAA', use: 'sig' }]) {
    try { const key = await crypto.subtle.importKey('jwk', jwk, 'AES-CBC', true, ['encrypt']); console.log(JSON.stringify(jwk), key.type); } catch (e) { console.log(JSON.stringify(jwk), 'threw', e.name); }
  }
}
