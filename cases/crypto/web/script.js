const ascii = (text) => new Uint8Array(Array.from(text).map((c) => c.charCodeAt(0)));
const hex = (b) => Array.from(new Uint8Array(b)).map((x) => x.toString(16).padStart(2, '0')).join('');
export default async function () {
  const bytes = ascii('plimsoll');
  for (const name of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']) console.log(hex(await crypto.subtle.digest(name, bytes)));
  console.log(crypto.getRandomValues(new Uint8Array(8)).length, /^[0-9a-f]{8}-[0-9a-f]{4}-4/.test(crypto.randomUUID()));
  const key = await crypto.subtle.importKey('raw', ascii('key'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
  const sig = await crypto.subtle.sign('HMAC', key, bytes);
  console.log(hex(sig), await crypto.subtle.verify('HMAC', key, sig, bytes), key.type, key.algorithm.name);
}
