export default async function () {
  for (const name of ['AES-CBC', 'AES-CTR', 'AES-GCM']) {
    const key = await crypto.subtle.importKey('raw', new Uint8Array(16).fill(5), name, true, ['encrypt', 'decrypt']);
    const jwk = await crypto.subtle.exportKey('jwk', key);
    console.log(Object.keys(jwk).sort().map((k) => k + '=' + jwk[k]).join(' '));
    const again = await crypto.subtle.importKey('jwk', jwk, name, true, ['encrypt']);
    console.log(again.type, again.extractable, again.usages.join(), again.algorithm.name, again.algorithm.length, new Uint8Array(await crypto.subtle.exportKey('raw', again)).join(''));
  }
}
