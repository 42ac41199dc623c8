import http from 'k6/http';
export default function () {
  for (const params of [5, 'text', true, [], () => 1, { headers: 5 }, { headers: 'x' }, { headers: [] }, { tags: 5 }, { tags: 'x' }, { cookies: 5 }, { jar: 5 }, { jar: {} }, { redirects: 'x' }, { redirects: null }, { responseType: 5 }, { responseType: null }, { auth: 5 }, { auth: 'own' }, { compression: 5 }, { throw: 5 }]) {
    try { const r = http.get(`${__ENV.BASE}/get`, params); console.log(JSON.stringify(params), r.status, r.error_code); } catch (e) { console.log(JSON.stringify(params), 'threw', e.name); }
  }
}
