import http from 'k6/http';
export default function () {
  for (const body of ['5', '"text"', 'null', 'true', '[]', '[1,{"a":2}]', '{}', ' {"a":1} ', '{"a":1}x', '', '{', '{"a":1,"a":2}', '1e400', '{"a":9007199254740993}', '"\\u00e9\\ud83d\\ude00"', '[1,]', "{'a':1}", 'NaN', '\ufeff{}']) {
    try { console.log(JSON.stringify(body), JSON.stringify(http.post(`${__ENV.BASE}/back`, body).json())); } catch (e) { console.log(JSON.stringify(body), 'threw', e.name); }
  }
}
