import secrets from 'k6/secrets';
export default function () {
  const promise = secrets.get('a');
  console.log(promise instanceof Promise, typeof promise.then);
  promise.then((value) => { console.log('length', value.length); return secrets.get('nothing'); }).catch(() => console.log('caught')).finally(() => console.log('finally'));
  console.log('end of the function');
}
