// Every request has a different URL.
import http from 'k6/http';

export default function () {
  http.get(`${__ENV.URL}item/${__VU}/${__ITER}`);
}
