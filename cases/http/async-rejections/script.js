import http from 'k6/http';
export default async function () {
  for (const [name, values] of [['refused', ['GET', 'http://127.0.0.1:1/']], ['refused and thrown', ['GET', 'http://127.0.0.1:1/', null, { throw: true }]], ['bad url', ['GET', '%']], ['no url', ['GET']], ['nothing', []], ['bad params', ['GET', __ENV.BASE, null, { timeout: 'soon' }]]]) {
    try { const r = await http.asyncRequest(...values); console.log(name, r.status, r.error_code); } catch (e) { console.log(name, 'threw', e.name); }
  }
}
