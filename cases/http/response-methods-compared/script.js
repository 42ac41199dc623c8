import http from 'k6/http';
export default function () {
  const response = http.get(`${__ENV.BASE}/anything`);
  console.log(response.json === response.json, response.status === response.status, typeof response.json);
  console.log(response.json instanceof Function, Object.keys(response.json).length, response.json.prototype === undefined);
}
