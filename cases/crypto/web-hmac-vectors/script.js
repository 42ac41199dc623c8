const hex = (b) => Array.from(new Uint8Array(b)).map((x) => x.toString(16).padStart(2, '0')).join('');
const data = new Uint8Array([1, 2, 3, 4]);
export default async function () {
  for (const hash of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512', { name: 'SHA-256' }]) {
    const key = await crypto.subtle.importKey('raw', new Uint8Array(20).fill(7), { name: 'HMAC', hash }, true, ['sign', 'verify']);
    const signature = await crypto.subtle.sign({ name: 'HMAC' }, key, data);
    console.log(hex(signature), await crypto.subtle.verify('HMAC', key, signature, data), await crypto.subtle.verify('HMAC', key, signature, new Uint8Array([1])), await crypto.subtle.verify('HMAC', key, new Uint8Array(3), data));
    const jwk = await crypto.subtle.exportKey('jwk', key);
    console.log(Object.keys(jwk).sort().map((name) => name + '=' + jwk[name]).join(' '));
  }
}
