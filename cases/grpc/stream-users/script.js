import { group } from 'k6';
import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
export const options = {
  vus: 3,
  iterations: 12,
  thresholds: {
    grpc_streams: ['count==72'],
    grpc_streams_msgs_sent: ['count==168'],
    'grpc_streams_msgs_sent{method:Sum}': ['count==72'],
    'grpc_streams_msgs_received{method:Count}': ['count==120'],
    'grpc_streams_msgs_received{group:::both}': ['count<0'],
    'grpc_req_duration{status:0}': ['avg>0'],
  },
};
let connected = false;
function count(method, ...messages) {
  const stream = new grpc.Stream(client, `cases.Cases/${method}`);
  for (const message of messages) stream.write(message);
  stream.end();
}
export default function () {
  if (!connected) client.connect(ADDRESS, { plaintext: true });
  connected = true;
  for (let turn = 0; turn < 2; turn++) {
    count('Count', { value: 5 });
    count('Sum', { value: 1 }, { value: 2 }, { value: 3 });
    group('both', () => count('Chat', { text: 'a' }, { text: 'b' }, { text: 'c' }));
  }
}
