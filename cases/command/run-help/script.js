console.log('never');
export default function () {}
