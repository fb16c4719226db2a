// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

// A small venue of our own, written from what is documented of the protocol's contracts: type strings, the hash of relay
// parameters and approvals, digests, deadlines, order events. It is not the protocol's code. Tests hold our hashing, our
// calldata, our reading of logs, the paper venue and the simulated chain against what a compiler and a virtual machine make
// of it.

error DeadlinePassed(uint256 currentTimestamp, uint256 deadline);
error InvalidUserDigest(bytes32 digest);
error InvalidRecoveredSigner(string signatureType, address recovered, address recoveredFromMinified, address expected);
error InvalidDestinationChainId(uint256 desChainId);
error RelayEmptyBatch();
error EmptyReceiver();
error EmptyOrder();
error OrderAlreadyFrozen();
error Unauthorized(address sender, string role);
error SubaccountNotAuthorized(address account, address subaccount);
error InvalidReceiverForSubaccountOrder(address receiver, address expected);
error InvalidSubaccountApprovalNonce(uint256 storedNonce, uint256 nonce);
error InvalidSubaccountApprovalSubaccount();

struct OracleParams { address[] tokens; address[] providers; bytes[] data; }
struct ExternalCalls {
    address[] sendTokens; uint256[] sendAmounts; address[] externalCallTargets; bytes[] externalCallDataList;
    address[] refundTokens; address[] refundReceivers;
}
struct TokenPermit { address owner; address spender; uint256 value; uint256 deadline; uint8 v; bytes32 r; bytes32 s; address token; }
struct FeeParams { address feeToken; uint256 feeAmount; address[] feeSwapPath; }
struct RelayParams {
    OracleParams oracleParams; ExternalCalls externalCalls; TokenPermit[] tokenPermits; FeeParams fee;
    uint256 userNonce; uint256 deadline; bytes signature; uint256 desChainId;
}
struct CreateOrderAddresses {
    address receiver; address cancellationReceiver; address callbackContract; address uiFeeReceiver; address market;
    address initialCollateralToken; address[] swapPath;
}
struct CreateOrderNumbers {
    uint256 sizeDeltaUsd; uint256 initialCollateralDeltaAmount; uint256 triggerPrice; uint256 acceptablePrice;
    uint256 executionFee; uint256 callbackGasLimit; uint256 minOutputAmount; uint256 validFromTime;
}
struct CreateOrderParams {
    CreateOrderAddresses addresses; CreateOrderNumbers numbers; uint8 orderType; uint8 decreasePositionSwapType; bool isLong;
    bool shouldUnwrapNativeToken; bool autoCancel; bytes32 referralCode; bytes32[] dataList;
}
struct UpdateOrderParams {
    bytes32 key; uint256 sizeDeltaUsd; uint256 acceptablePrice; uint256 triggerPrice; uint256 minOutputAmount;
    uint256 validFromTime; bool autoCancel; uint256 executionFeeIncrease;
}
struct BatchParams {
    CreateOrderParams[] createOrderParamsList; UpdateOrderParams[] updateOrderParamsList; bytes32[] cancelOrderKeys;
}
struct SubaccountApproval {
    address subaccount; bool shouldAdd; uint256 expiresAt; uint256 maxAllowedCount; bytes32 actionType; uint256 nonce;
    uint256 desChainId; uint256 deadline; bytes32 integrationId; bytes signature;
}

struct AddressItem { string key; address value; }
struct AddressListItem { string key; address[] value; }
struct AddressItems { AddressItem[] items; AddressListItem[] arrayItems; }
struct UintItem { string key; uint256 value; }
struct UintListItem { string key; uint256[] value; }
struct UintItems { UintItem[] items; UintListItem[] arrayItems; }
struct IntItem { string key; int256 value; }
struct IntListItem { string key; int256[] value; }
struct IntItems { IntItem[] items; IntListItem[] arrayItems; }
struct BoolItem { string key; bool value; }
struct BoolListItem { string key; bool[] value; }
struct BoolItems { BoolItem[] items; BoolListItem[] arrayItems; }
struct WordItem { string key; bytes32 value; }
struct WordListItem { string key; bytes32[] value; }
struct WordItems { WordItem[] items; WordListItem[] arrayItems; }
struct BytesItem { string key; bytes value; }
struct BytesListItem { string key; bytes[] value; }
struct BytesItems { BytesItem[] items; BytesListItem[] arrayItems; }
struct StringItem { string key; string value; }
struct StringListItem { string key; string[] value; }
struct StringItems { StringItem[] items; StringListItem[] arrayItems; }
struct EventLogData {
    AddressItems addressItems; UintItems uintItems; IntItems intItems; BoolItems boolItems; WordItems bytes32Items;
    BytesItems bytesItems; StringItems stringItems;
}

/// Orders, and the events that tell of them.
contract Venue {
    event EventLog2(
        address msgSender, string eventName, string indexed eventNameHash, bytes32 indexed topic1, bytes32 indexed topic2,
        EventLogData eventData
    );

    struct Order { address account; bool isFrozen; uint256 sizeDeltaUsd; }

    mapping(bytes32 => Order) public orders;
    uint256 public orderNonce;

    function createOrder(address account, CreateOrderParams calldata params) external returns (bytes32 key) {
        if (params.addresses.receiver == address(0)) revert EmptyReceiver();
        orderNonce += 1;
        key = keccak256(abi.encode(address(this), orderNonce));
        orders[key] = Order(account, false, params.numbers.sizeDeltaUsd);
        EventLogData memory data = _data(account, key);
        _addCreated(data, params);
        _emit("OrderCreated", key, account, data);
    }

    function updateOrder(address account, UpdateOrderParams calldata params) external {
        _of(params.key, account);
        orders[params.key].isFrozen = false;
        orders[params.key].sizeDeltaUsd = params.sizeDeltaUsd;
        _emit("OrderUpdated", params.key, account, _data(account, params.key));
    }

    function cancelOrder(address account, bytes32 key) external {
        _of(key, account);
        delete orders[key];
        _ended("OrderCancelled", key, account, "USER_INITIATED_CANCEL", "");
    }

    // --- the keeper's work ---

    function executeOrder(bytes32 key) external {
        address account = orders[key].account;
        _of(key, account);
        delete orders[key];
        EventLogData memory data = _data(account, key);
        data.uintItems.items = new UintItem[](1);
        data.uintItems.items[0] = UintItem("secondaryOrderType", 0);
        _emit("OrderExecuted", key, account, data);
    }

    function failOrder(bytes32 key, bool freezes, bytes calldata reasonBytes) external {
        address account = orders[key].account;
        _of(key, account);
        if (freezes && orders[key].isFrozen) revert OrderAlreadyFrozen();
        if (freezes) orders[key].isFrozen = true;
        else delete orders[key];
        _ended(freezes ? "OrderFrozen" : "OrderCancelled", key, account, "", reasonBytes);
    }

    function _of(bytes32 key, address account) private view {
        if (orders[key].account == address(0)) revert EmptyOrder();
        if (orders[key].account != account) revert Unauthorized(account, "account for order");
    }

    function _data(address account, bytes32 key) private pure returns (EventLogData memory data) {
        data.addressItems.items = new AddressItem[](1);
        data.addressItems.items[0] = AddressItem("account", account);
        data.bytes32Items.items = new WordItem[](1);
        data.bytes32Items.items[0] = WordItem("key", key);
    }

    function _addCreated(EventLogData memory data, CreateOrderParams calldata params) private pure {
        address account = data.addressItems.items[0].value;
        data.addressItems.items = new AddressItem[](3);
        data.addressItems.items[0] = AddressItem("account", account);
        data.addressItems.items[1] = AddressItem("receiver", params.addresses.receiver);
        data.addressItems.items[2] = AddressItem("market", params.addresses.market);
        data.addressItems.arrayItems = new AddressListItem[](1);
        data.addressItems.arrayItems[0] = AddressListItem("swapPath", params.addresses.swapPath);
        data.uintItems.items = new UintItem[](3);
        data.uintItems.items[0] = UintItem("orderType", params.orderType);
        data.uintItems.items[1] = UintItem("sizeDeltaUsd", params.numbers.sizeDeltaUsd);
        data.uintItems.items[2] = UintItem("acceptablePrice", params.numbers.acceptablePrice);
        data.boolItems.items = new BoolItem[](1);
        data.boolItems.items[0] = BoolItem("isLong", params.isLong);
        data.bytes32Items.arrayItems = new WordListItem[](1);
        data.bytes32Items.arrayItems[0] = WordListItem("dataList", params.dataList);
    }

    function _ended(string memory name, bytes32 key, address account, string memory reason, bytes memory reasonBytes) private {
        EventLogData memory data = _data(account, key);
        data.bytesItems.items = new BytesItem[](1);
        data.bytesItems.items[0] = BytesItem("reasonBytes", reasonBytes);
        data.stringItems.items = new StringItem[](1);
        data.stringItems.items[0] = StringItem("reason", reason);
        _emit(name, key, account, data);
    }

    function _emit(string memory name, bytes32 key, address account, EventLogData memory data) private {
        emit EventLog2(msg.sender, name, name, key, bytes32(uint256(uint160(account))), data);
    }
}

/// What both relay routers do with a signed message.
abstract contract RelayRouter {
    bytes32 constant DOMAIN = keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    string constant ADDRESSES_TYPE =
        "CreateOrderAddresses(address receiver,address cancellationReceiver,address callbackContract,address uiFeeReceiver,address market,address initialCollateralToken,address[] swapPath)";
    string constant NUMBERS_TYPE =
        "CreateOrderNumbers(uint256 sizeDeltaUsd,uint256 initialCollateralDeltaAmount,uint256 triggerPrice,uint256 acceptablePrice,uint256 executionFee,uint256 callbackGasLimit,uint256 minOutputAmount,uint256 validFromTime)";
    string constant CREATE_TYPE =
        "CreateOrderParams(CreateOrderAddresses addresses,CreateOrderNumbers numbers,uint256 orderType,uint256 decreasePositionSwapType,bool isLong,bool shouldUnwrapNativeToken,bool autoCancel,bytes32 referralCode,bytes32[] dataList)";
    string constant UPDATE_TYPE =
        "UpdateOrderParams(bytes32 key,uint256 sizeDeltaUsd,uint256 acceptablePrice,uint256 triggerPrice,uint256 minOutputAmount,uint256 validFromTime,bool autoCancel,uint256 executionFeeIncrease)";
    string constant BATCH_TYPE =
        "Batch(address account,CreateOrderParams[] createOrderParamsList,UpdateOrderParams[] updateOrderParamsList,bytes32[] cancelOrderKeys,bytes32 relayParams,bytes32 subaccountApproval)";
    bytes32 constant ADDRESSES = keccak256(bytes(ADDRESSES_TYPE));
    bytes32 constant NUMBERS = keccak256(bytes(NUMBERS_TYPE));
    bytes32 constant CREATE = keccak256(abi.encodePacked(CREATE_TYPE, ADDRESSES_TYPE, NUMBERS_TYPE));
    bytes32 constant UPDATE = keccak256(bytes(UPDATE_TYPE));
    // Referenced types follow in alphabetical order.
    bytes32 constant BATCH =
        keccak256(abi.encodePacked(BATCH_TYPE, ADDRESSES_TYPE, NUMBERS_TYPE, CREATE_TYPE, UPDATE_TYPE));
    bytes32 constant MINIFIED = keccak256("Minified(bytes32 digest)");

    Venue public immutable venue;
    mapping(bytes32 => bool) public digests;

    constructor(Venue venue_) { venue = venue_; }

    function separator() public view returns (bytes32) {
        return keccak256(abi.encode(DOMAIN, keccak256("GmxBaseGelatoRelayRouter"), keccak256("1"), block.chainid, address(this)));
    }

    function hashRelayParams(RelayParams calldata p) public pure returns (bytes32) {
        return keccak256(
            abi.encode(p.oracleParams, p.externalCalls, p.tokenPermits, p.fee, p.userNonce, p.deadline, p.desChainId)
        );
    }

    function digestOfBatch(address account, BatchParams calldata params, bytes32 relayParams, bytes32 approval)
        public view returns (bytes32)
    {
        bytes32[] memory creates = new bytes32[](params.createOrderParamsList.length);
        for (uint256 i; i < creates.length; i++) creates[i] = _hashCreate(params.createOrderParamsList[i]);
        bytes32[] memory updates = new bytes32[](params.updateOrderParamsList.length);
        for (uint256 i; i < updates.length; i++) {
            updates[i] = keccak256(abi.encode(UPDATE, params.updateOrderParamsList[i]));
        }
        return _digest(
            keccak256(
                abi.encode(
                    BATCH, account, keccak256(abi.encodePacked(creates)), keccak256(abi.encodePacked(updates)),
                    keccak256(abi.encodePacked(params.cancelOrderKeys)), relayParams, approval
                )
            )
        );
    }

    function _hashCreate(CreateOrderParams calldata p) private pure returns (bytes32) {
        return keccak256(
            abi.encode(
                CREATE, _hashAddresses(p.addresses), keccak256(abi.encode(NUMBERS, p.numbers)), uint256(p.orderType),
                uint256(p.decreasePositionSwapType), p.isLong, p.shouldUnwrapNativeToken, p.autoCancel, p.referralCode,
                keccak256(abi.encodePacked(p.dataList))
            )
        );
    }

    function _hashAddresses(CreateOrderAddresses calldata a) private pure returns (bytes32) {
        return keccak256(
            abi.encode(
                ADDRESSES, a.receiver, a.cancellationReceiver, a.callbackContract, a.uiFeeReceiver, a.market,
                a.initialCollateralToken, keccak256(abi.encodePacked(a.swapPath))
            )
        );
    }

    function _digest(bytes32 structHash) internal view returns (bytes32) {
        return keccak256(abi.encodePacked(hex"1901", separator(), structHash));
    }

    /// Uses the digest up, if the signature is the signer's and the message may still land.
    function _use(RelayParams calldata p, bytes32 digest, address signer) internal {
        if (p.desChainId != block.chainid) revert InvalidDestinationChainId(p.desChainId);
        // Which of the two comes first is not documented; nothing of ours depends on it.
        if (block.timestamp > p.deadline) revert DeadlinePassed(block.timestamp, p.deadline);
        if (digests[digest]) revert InvalidUserDigest(digest);
        _checkSigner(digest, p.signature, signer);
        digests[digest] = true;
    }

    function _checkSigner(bytes32 digest, bytes calldata signature, address expected) internal view {
        address recovered = _recover(digest, signature);
        if (recovered == expected && recovered != address(0)) return;
        address minified = _recover(_digest(keccak256(abi.encode(MINIFIED, digest))), signature);
        if (minified == expected && minified != address(0)) return;
        revert InvalidRecoveredSigner("call", recovered, minified, expected);
    }

    function _recover(bytes32 digest, bytes calldata signature) private pure returns (address) {
        if (signature.length != 65) return address(0);
        return ecrecover(digest, uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64]));
    }

    function _act(address account, BatchParams calldata params) internal returns (bytes32[] memory keys) {
        if (
            params.createOrderParamsList.length + params.updateOrderParamsList.length + params.cancelOrderKeys.length == 0
        ) revert RelayEmptyBatch();
        keys = new bytes32[](params.createOrderParamsList.length);
        for (uint256 i; i < keys.length; i++) keys[i] = venue.createOrder(account, params.createOrderParamsList[i]);
        for (uint256 i; i < params.updateOrderParamsList.length; i++) venue.updateOrder(account, params.updateOrderParamsList[i]);
        for (uint256 i; i < params.cancelOrderKeys.length; i++) venue.cancelOrder(account, params.cancelOrderKeys[i]);
    }
}

/// Signed by the account itself: the message does not name it.
contract OwnRouter is RelayRouter {
    constructor(Venue venue_) RelayRouter(venue_) {}

    function batch(RelayParams calldata relayParams, address account, BatchParams calldata params)
        external returns (bytes32[] memory)
    {
        _use(relayParams, digestOfBatch(address(0), params, hashRelayParams(relayParams), bytes32(0)), account);
        return _act(account, params);
    }
}

/// Signed by a session key: the message names the account, and carries the hash of its approval.
contract SubaccountRouter is RelayRouter {
    bytes32 constant APPROVAL = keccak256(
        "SubaccountApproval(address subaccount,bool shouldAdd,uint256 expiresAt,uint256 maxAllowedCount,bytes32 actionType,uint256 nonce,uint256 desChainId,uint256 deadline,bytes32 integrationId)"
    );
    bytes32 constant REMOVE = keccak256("RemoveSubaccount(address subaccount,bytes32 relayParams)");

    mapping(address => mapping(address => bool)) public isSubaccount;
    mapping(address => uint256) public subaccountApprovalNonces;

    constructor(Venue venue_) RelayRouter(venue_) {}

    function hashApproval(SubaccountApproval calldata approval) public pure returns (bytes32) {
        return keccak256(abi.encode(approval));
    }

    function approvalDigest(SubaccountApproval calldata a) public view returns (bytes32) {
        return _digest(
            keccak256(
                abi.encode(
                    APPROVAL, a.subaccount, a.shouldAdd, a.expiresAt, a.maxAllowedCount, a.actionType, a.nonce,
                    a.desChainId, a.deadline, a.integrationId
                )
            )
        );
    }

    function batch(
        RelayParams calldata relayParams, SubaccountApproval calldata approval, address account, address subaccount,
        BatchParams calldata params
    ) external returns (bytes32[] memory) {
        bytes32 digest = digestOfBatch(account, params, hashRelayParams(relayParams), hashApproval(approval));
        _use(relayParams, digest, subaccount);
        _approve(account, subaccount, approval);
        for (uint256 i; i < params.createOrderParamsList.length; i++) {
            address receiver = params.createOrderParamsList[i].addresses.receiver;
            if (receiver != account) revert InvalidReceiverForSubaccountOrder(receiver, account);
        }
        return _act(account, params);
    }

    function removeSubaccount(RelayParams calldata relayParams, address account, address subaccount) external {
        _use(relayParams, _digest(keccak256(abi.encode(REMOVE, subaccount, hashRelayParams(relayParams)))), account);
        isSubaccount[account][subaccount] = false;
    }

    function _approve(address account, address subaccount, SubaccountApproval calldata approval) private {
        if (approval.signature.length > 0) {
            if (approval.subaccount != subaccount) revert InvalidSubaccountApprovalSubaccount();
            if (approval.nonce != subaccountApprovalNonces[account]) {
                revert InvalidSubaccountApprovalNonce(subaccountApprovalNonces[account], approval.nonce);
            }
            subaccountApprovalNonces[account] += 1;
            _checkSigner(approvalDigest(approval), approval.signature, account);
            if (approval.shouldAdd) isSubaccount[account][subaccount] = true;
        }
        if (!isSubaccount[account][subaccount]) revert SubaccountNotAuthorized(account, subaccount);
    }
}

/// Multicall3's aggregate3.
contract Multicall {
    struct Call { address target; bool allowFailure; bytes callData; }
    struct Result { bool success; bytes returnData; }

    function aggregate3(Call[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i; i < calls.length; i++) {
            (bool success, bytes memory data) = calls[i].target.call(calls[i].callData);
            require(success || calls[i].allowFailure, "Multicall3: call failed");
            results[i] = Result(success, data);
        }
    }
}
