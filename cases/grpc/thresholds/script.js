import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
export const options = {
  iterations: 3,
  thresholds: {
    'grpc_req_duration{method:EchoWord}': ['p(95)<5000'],
    'grpc_req_duration{status:5}': ['max<0.000001'],
    grpc_req_duration: ['avg>0'],
  },
};
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  client.invoke('cases.Cases/EchoWord', {});
  client.invoke('cases.Cases/Fail', { code: 5 });
  client.close();
}
