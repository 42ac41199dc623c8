import http from 'k6/http';
export const options = { discardResponseBodies: true };
export default function () {
  for (const responseType of [undefined, 'none', 'text', 'binary']) {
    const { body } = http.get(`${__ENV.BASE}/text/abc`, { responseType });
    console.log(responseType, body === null ? 'null' : typeof body === 'string' ? body : new Uint8Array(body).join());
  }
  try { console.log(JSON.stringify(http.get(`${__ENV.BASE}/json`).json())); } catch (e) { console.log('threw', e.name); }
}
