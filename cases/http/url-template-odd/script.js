import http from 'k6/http';
export default function () {
  for (const made of [http.url`${__ENV.BASE}/get`, http.url`${__ENV.BASE}/item/${null}`, http.url`${__ENV.BASE}/item/${undefined}/${true}`, http.url`${__ENV.BASE}/item/${[1, 2]}`, http.url`${__ENV.BASE}/item/${{ a: 1 }}`, http.url`${__ENV.BASE}/item/${'a b'}`]) {
    console.log(http.get(made).status, made.name, Object.keys(made).sort().join(), made.url?.replace(__ENV.BASE, ''));
  }
}
