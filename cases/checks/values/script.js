import { check } from 'k6';
export default function () {
  console.log(check(5, { 'is five': (v) => v === 5, truthy: 1, falsy: 0, text: 'x', empty: '', none: null, object: {}, returns: () => 'yes' }));
  console.log(check(5, { 'is five': (v) => v === 5 }), check(5, {}), check(undefined, { u: (v) => v === undefined }));
}
