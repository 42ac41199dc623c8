import x from 'k6/nothing';
export default function () {}
