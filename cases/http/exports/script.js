import http, * as all from 'k6/http';
import { get, post, batch, CookieJar, file, url, expectedStatuses } from 'k6/http';
export default function () {
  console.log([get, post, batch, CookieJar, file, url, expectedStatuses].map((f) => typeof f).join());
  console.log(all.default === http, typeof all.get, get === http.get, typeof all.nothing);
  console.log(get(`${__ENV.BASE}/get`).status, new CookieJar() instanceof http.CookieJar);
  for (const name of Object.keys(http).filter((key) => key === key.toUpperCase()).sort()) console.log(name, http[name]);
}
