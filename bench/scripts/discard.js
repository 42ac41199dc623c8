// The least a script can do: a request whose answer nobody looks at.
import http from 'k6/http';

export const options = { discardResponseBodies: true };

export default function () {
  http.get(__ENV.URL);
}
