import http from 'k6/http';
export const options = {
  insecureSkipTLSVerify: true,
  tlsAuth: [{ cert: open(`${__ENV.CERTS}/client.pem`), key: open(`${__ENV.CERTS}/client-key.pem`) }],
};
export default function () { console.log(http.get(`${__ENV.TLS_CLIENT}/get`).status); }
