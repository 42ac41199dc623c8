import grpc from 'k6/net/grpc';
const client = new grpc.Client();
for (const values of [[], [null], [null, 'nothing.proto'], [[], 'nothing.proto'], ['text', 'nothing.proto'], [[__ENV.CERTS]], [[__ENV.CERTS], 5], [[__ENV.CERTS], null], [[5], 'cases.proto'], [[__ENV.CERTS], 'cases.proto']]) {
  try { const found = client.load(...values); if (__VU === 0) console.log(values.length, Array.isArray(found), found?.length > 0); } catch (e) { if (__VU === 0) console.log(values.length, 'threw', e.name); }
}
export default function () {}
