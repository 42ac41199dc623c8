import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/json`);
  r.own = 1;
  r.status = 5;
  r.headers['X-Own'] = 'h';
  console.log(r.own, r.status, r.headers['X-Own'], typeof r.json, 'json' in r, Object.keys(r).includes('body'));
  r.body = '{"changed":true}';
  console.log(r.body.length, JSON.stringify(r.json('changed')), r.json('id'));
  delete r.status;
  console.log(r.status, Object.prototype.toString.call(r));
}
