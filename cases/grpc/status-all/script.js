import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
const call = (method, request, params) => client.invoke(`cases.Cases/${method}`, request, params);
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  for (let code = 1; code <= 16; code++) {
    const r = call('Fail', { code, message: `m${code}` });
    const names = Object.keys(grpc).filter((key) => key.startsWith('Status') && grpc[key] === r.status);
    console.log(code, names.join(), r.error.message, r.status == code, `${r.status}`);
  }
  client.close();
}
