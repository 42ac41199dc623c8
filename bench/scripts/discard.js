// The smallest script: a request whose response is ignored.
import http from 'k6/http';

export const options = { discardResponseBodies: true };

export default function () {
  http.get(__ENV.URL);
}
