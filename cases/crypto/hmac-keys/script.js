import crypto from 'k6/crypto';
export default function () {
  for (const key of ['', 'k', 'k'.repeat(64), 'k'.repeat(65), 'k'.repeat(1000), 'é', new Uint8Array([0, 255]), new Uint8Array([0, 255]).buffer, [0, 255], null, undefined, 5]) {
    try { console.log(crypto.hmac('sha256', key, 'data', 'hex')); } catch (e) { console.log(Object.prototype.toString.call(key), 'threw', e.name); }
  }
}
