import crypto from 'k6/crypto';
export default function () {
  for (const encoding of ['hex', 'base64', 'base64url', 'base64rawurl', 'binary', 'HEX', '', 'utf8', null, undefined, 5]) {
    try { const out = crypto.md5('plimsoll', encoding); console.log(JSON.stringify(encoding), typeof out === 'string' ? out : new Uint8Array(out).join()); } catch (e) { console.log(JSON.stringify(encoding), 'threw', e.name); }
  }
}
