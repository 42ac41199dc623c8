import grpc, * as all from 'k6/net/grpc';
export default function () {
  console.log(Object.keys(grpc).sort().map((name) => (typeof grpc[name] === 'function' ? name : `${name}=${grpc[name]}`)).join());
  console.log(typeof all.Client, all.StatusOK === grpc.StatusOK);
}
