import crypto from 'k6/crypto';
const show = (what, value) => {
  const listed = [];
  for (const name in value) listed.push(`${name} ${typeof value[name]}`);
  console.log(what, Object.keys(value).join(), '|', listed.join(), '|', Object.getOwnPropertyNames(value).length);
  console.log(what, JSON.stringify(value), '|', Object.entries({ ...value }).map(([name, own]) => `${name} ${typeof own}`).join());
};
export default function () {
  const hasher = crypto.createHash('sha256');
  show('hasher', hasher);
  const { update, digest } = hasher;
  update('a'); update('b');
  console.log(digest('hex') === crypto.sha256('ab', 'hex'), hasher.digest('hex') === digest('hex'));
  const copy = { ...crypto.createHMAC('md5', 'key') };
  copy.update('text');
  console.log(copy.digest('hex') === crypto.hmac('md5', 'key', 'text', 'hex'), Object.keys(copy).join());
}
