// Generated from schema.graphql and operations/ by `npm run generate:sdk`. Do not edit.

const done = 'fragment Done on Done{id member{...Member}ok}';
const member = 'fragment Member on Member{createdAt email id name role}';
const problem = 'fragment Problem on Error{code message ...on BusyError{retryAfterSeconds}...on InputError{problems{message path}}...on TooManyAttemptsError{retryAfterSeconds}}';

/** The text of each operation. */
export const machinesDocuments: Record<string, string> = {
  machineLogin: 'query machineLogin($code:String!){machineLogin(code:$code){__typename ...on MachineLogin{askedAt expiresAt ipAddress machine sameNetwork}...Problem}}' + problem,
  approveMachineLogin: 'mutation approveMachineLogin($input:ApproveMachineLoginInput!){approveMachineLogin(input:$input){__typename ...Done ...Problem}}' + done + member + problem,
  denyMachineLogin: 'mutation denyMachineLogin($code:String!){denyMachineLogin(code:$code){__typename ...Done ...Problem}}' + done + member + problem,
};
