console.log(`packed by ${__ENV.WHO}`);
export default function () {}
