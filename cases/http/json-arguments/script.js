import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/json`);
  for (const path of [null, 5, true, {}, [], ['id'], ['id', 'name'], () => 'id']) {
    try { console.log(JSON.stringify(path), JSON.stringify(r.json(path))?.length); } catch (e) { console.log(JSON.stringify(path), 'threw', e.name); }
  }
  const binary = http.get(`${__ENV.BASE}/json`, { responseType: 'binary' });
  console.log(binary.json('id'), JSON.stringify(binary.json('tags')));
}
