import grpc from 'k6/net/grpc';
import encoding from 'k6/encoding';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
const text = (value) => [...value].map((letter) => letter.charCodeAt(0));
const field = (number, bytes) => [number << 3 | 2, bytes.length, ...bytes];
const any = (type, bytes) => field(3, [...field(1, text(type)), ...field(2, bytes)]);
const GOOGLE = 'type.googleapis.com/';
const status = (code, ...details) => [8, code, ...field(2, text('m')), ...[].concat(...details)];
const fail = (details) => {
  const request = { code: 3, message: 'm', details: encoding.b64encode(new Uint8Array(details).buffer) };
  return client.invoke('cases.Cases/Fail', request);
};
// k6 has the fields of an object in no order.
const ordered = (value) => JSON.stringify(value, (_, inner) =>
  inner === null || typeof inner !== 'object' || Array.isArray(inner)
    ? inner
    : Object.fromEntries(Object.keys(inner).sort().map((key) => [key, inner[key]])));
const tell = (what, details) => {
  const r = fail(details);
  console.log(what, r.status === grpc.StatusInvalidArgument, r.message === null, ordered(r.error));
};
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  const word = any(GOOGLE + 'cases.Word', field(1, text('d')));
  tell('info', status(3, any(GOOGLE + 'google.rpc.ErrorInfo', [...field(1, text('WHY')), ...field(2, text('here'))])));
  tell('known and unknown', status(3, word, any(GOOGLE + 'nobody.Knows', [8, 1])));
  tell('no type', status(3, any('', [8, 1])));
  tell('broken inside', status(3, any(GOOGLE + 'cases.Word', [255])));
  client.close();
}
