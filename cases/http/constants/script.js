import http, { TLS_1_2, OCSP_STATUS_GOOD, get } from 'k6/http';
export default function () {
  console.log(Object.keys(http).sort().join());
  console.log(TLS_1_2, http.TLS_1_3, OCSP_STATUS_GOOD, http.OCSP_REASON_KEY_COMPROMISE, typeof get);
}
