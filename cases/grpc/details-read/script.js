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
  tell('described', status(3, word));
  tell('two', status(3, word, any(GOOGLE + 'cases.Number', [8, 42])));
  tell('enum', status(3, any(GOOGLE + 'cases.Everything', [8 * 2 + 5, 0, 0, 192, 63, 128, 1, 2, 8 * 3, 7, 8 * 4, 7])));
  tell('duration', status(3, any(GOOGLE + 'google.protobuf.Duration', [8, 90])));
  tell('wrapped', status(3, any(GOOGLE + 'google.protobuf.StringValue', field(1, text('w')))));
  tell('elsewhere', status(3, any('example.com/cases.Word', field(1, text('d')))));
  tell('none', status(3));
  tell('empty', []);
  // What contradicts the status, or is none.
  tell('broken', [255, 255]);
  tell('another message', [8, 3, ...field(2, text('other'))]);
  tell('no message', [8, 3]);
  for (const details of [status(5, any(GOOGLE + 'cases.Word', [])), any(GOOGLE + 'cases.Word', []), status(5), []]) {
    const { error, status } = fail(details);
    console.log(status === grpc.StatusInternal, error.code, error.message.split('-bin=')[0], error.details.length);
  }
  tell('no slash', status(3, any('cases.Word', field(1, text('d')))));
  tell('no value', status(3, field(3, field(1, text(GOOGLE + 'cases.Word')))));
  tell('more fields', [...status(3), ...field(9, text('what'))]);
  client.close();
}
