import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
const call = (method, request, params) => client.invoke(`cases.Cases/${method}`, request, params);
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  for (const timeout of [50, '50ms']) {
    const r = call('Wait', { value: 20000 }, { timeout });
    console.log(r.status === grpc.StatusDeadlineExceeded, r.error.code, r.error.message, JSON.stringify(r.headers), JSON.stringify(r.message));
  }
  client.close();
}
