#include "tracker/authority/data_authority.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/crypto/certificate_request.h"
#include "ccm/domain/once.h"
#include "tracker/core/node_access.h"

namespace gridtorrent::tracker::authority {
namespace {

std::string purpose_of(std::uint32_t generation) {
  return "data-ca " + std::to_string(generation);
}

ccm::AuditRecord audited(const ccm::Actor& actor, std::string_view action, std::string object, WallTime now) {
  ccm::AuditRecord record;
  record.at = now;
  record.actor = actor.user;
  record.actor_name = actor.name;
  record.token_id = actor.token_id;
  record.address = actor.address;
  record.action = action;
  record.object = std::move(object);
  record.outcome = "ok";
  return record;
}

Error cannot_sign(const Error& why) {
  return {Code::kUnsupported, "this server cannot certify nodes for content that is not public: " + why.message +
                                  "; its operator has to put the sealing key back (see docs/operating.md)"};
}

}  // namespace

Status DataAuthority::open() {
  std::vector<DataCaRecord> records;
  GT_TRY(store_.read([&](Tx& tx) -> Status {
    GT_ASSIGN(records, tx.data_cas.all());
    return {};
  }));
  std::erase_if(records, [](const DataCaRecord& record) { return record.retired.has_value(); });
  const std::lock_guard changing(changing_);
  if (records.empty()) {
    const auto first = make([](Tx&, std::uint32_t) { return Status(); });
    if (!first && first.error().code == Code::kUnsupported) return {};
    return first ? Status() : Status(first.error());
  }
  const std::lock_guard lock(mutex_);
  living_.clear();
  trouble_.reset();
  auto key = crypto::SealingKey::load(sealing_key_file_);
  if (key) {
    sealing_ = std::move(*key);
  } else {
    trouble_ = cannot_sign(key.error());
  }
  for (const DataCaRecord& record : records) living_.push_back(unseal(record));
  if (!trouble_ && !living_.back().authority) trouble_ = cannot_sign(living_.back().authority.error());
  return {};
}

std::optional<Error> DataAuthority::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

Result<std::uint32_t> DataAuthority::restricted() const {
  const std::lock_guard lock(mutex_);
  if (trouble_) return *trouble_;
  return living_.back().generation.number;
}

std::string DataAuthority::ca_pem(std::uint32_t generation) const {
  const std::lock_guard lock(mutex_);
  for (const Living& one : living_) {
    if (one.generation.number == generation) return one.generation.ca_pem;
  }
  return {};
}

DataAuthority::Generation DataAuthority::current() const {
  const std::lock_guard lock(mutex_);
  return living_.empty() ? Generation{} : living_.back().generation;
}

Result<std::vector<DataAuthority::NodeCertificate>> DataAuthority::certify(const ccm::Actor& actor,
                                                                           std::string_view request_der) {
  GT_ASSIGN(const std::string public_key, crypto::read_certificate_request(request_der));
  const WallTime now = clock_.wall();
  std::vector<Living> living;
  {
    const std::lock_guard lock(mutex_);
    if (trouble_) return *trouble_;
    living = living_;
  }
  std::vector<NodeCertificate> certificates;
  GT_TRY(store_.write([&](Tx& tx) -> Status {
    certificates.clear();
    GT_ASSIGN(const NodeRecord node, node_of(tx, actor));
    if (node.public_key != public_key) {
      return Error{Code::kDenied, "the certificate request is for another key than the one that node " + node.name +
                                      " enrolled with; enrol it anew"};
    }
    for (const Living& one : living) {
      if (!one.authority) continue;  // an older one under a lost key; its contents move to the current one
      GT_ASSIGN(std::string pem, crypto::issue_node_certificate(*one.authority, public_key, now));
      GT_ASSIGN(const crypto::CertificateFacts facts, crypto::read_certificate(pem));
      certificates.push_back({one.generation, std::move(pem), facts.not_after});
    }
    return tx.audit.append(audited(actor, "node.certify", node.id.str(), now));
  }));
  return certificates;
}

Result<DataAuthority::Generation> DataAuthority::rotate(const ccm::Actor& actor, const std::string& request_id,
                                                        bool sealing_key_lost) {
  constexpr std::string_view kMethod = "data-ca.rotate";
  const std::lock_guard changing(changing_);
  std::optional<std::string> answered;
  GT_TRY(store_.read([&](Tx& tx) -> Status {
    GT_ASSIGN(answered, ccm::first_answer(tx, actor.user, request_id, kMethod));
    return {};
  }));
  if (answered) return current();
  if (const auto missing = sealing_key_trouble(); missing && !sealing_key_lost) {
    return Error{Code::kConflict, missing->message +
                                      " and start the server again; only where that key is lost for good, make a new "
                                      "generation with --sealing-key-lost"};
  }
  return make([&](Tx& tx, std::uint32_t generation) -> Status {
    const WallTime now = clock_.wall();
    GT_TRY(ccm::keep_answer(tx, actor.user, request_id, kMethod, std::to_string(generation), now));
    return tx.audit.append(audited(actor, kMethod, "generation " + std::to_string(generation), now));
  });
}

/// As the file is now: it may have gone, or another may lie there, since the start.
std::optional<Error> DataAuthority::sealing_key_trouble() const {
  const std::lock_guard lock(mutex_);
  if (trouble_ || !sealing_) return trouble_;
  const auto here = crypto::SealingKey::load(sealing_key_file_);
  if (!here) return cannot_sign(here.error());
  if (here->id() == sealing_->id()) return std::nullopt;
  return cannot_sign({Code::kCorrupt, sealing_key_file_ + " holds key " + here->id() + ", not " + sealing_->id()});
}

std::vector<std::uint32_t> DataAuthority::replaced() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint32_t> numbers;
  for (const Living& one : living_) numbers.push_back(one.generation.number);
  if (!numbers.empty()) numbers.pop_back();
  return numbers;
}

Result<std::vector<DataAuthority::Described>> DataAuthority::describe() const {
  std::vector<DataCaRecord> records;
  std::map<std::uint32_t, std::uint64_t> counted;
  GT_TRY(store_.read([&](Tx& tx) -> Status {
    GT_ASSIGN(records, tx.data_cas.all());
    GT_ASSIGN(counted, tx.contents.count_by_generation());
    return {};
  }));
  const std::lock_guard lock(mutex_);
  std::vector<Described> described;
  for (const DataCaRecord& record : records) {
    const auto living =
        std::ranges::find(living_, record.generation, [](const Living& one) { return one.generation.number; });
    described.push_back({record.generation, record.created, record.retired,
                         living != living_.end() && living->authority.ok(), counted[record.generation]});
  }
  return described;
}

Result<DataAuthority::Generation> DataAuthority::make(
    const std::function<Status(Tx&, std::uint32_t generation)>& also) {
  auto key = crypto::SealingKey::load_or_make(sealing_key_file_);
  if (!key) {
    const std::lock_guard lock(mutex_);
    if (living_.empty()) trouble_ = cannot_sign(key.error());
    return cannot_sign(key.error());
  }
  std::uint32_t next = 1;
  GT_TRY(store_.read([&](Tx& tx) -> Status {
    GT_ASSIGN(const auto records, tx.data_cas.all());
    if (!records.empty()) next = records.back().generation + 1;
    return {};
  }));
  GT_ASSIGN(crypto::Authority authority,
            crypto::make_authority("GridTorrent data CA " + std::to_string(next), clock_.wall()));
  DataCaRecord record;
  record.generation = next;
  record.certificate_pem = authority.certificate_pem;
  record.sealed_key = key->seal(authority.key.private_pem(), purpose_of(next));
  record.sealing_key_id = key->id();
  record.created = clock_.wall();
  GT_TRY(store_.write([&](Tx& tx) -> Status {
    GT_TRY(tx.data_cas.insert(record));
    return also(tx, next);
  }));
  const std::lock_guard lock(mutex_);
  sealing_ = std::move(*key);
  trouble_.reset();
  Generation made{next, authority.certificate_pem};
  living_.push_back({made, std::move(authority)});
  return made;
}

Status DataAuthority::retire(std::uint32_t generation) {
  const std::string name = "generation " + std::to_string(generation);
  const std::lock_guard changing(changing_);
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(living_, generation, [](const Living& one) { return one.generation.number; });
    if (found == living_.end()) return Error{Code::kNotFound, "the data CA has no living " + name};
    if (found + 1 == living_.end()) {
      return Error{Code::kConflict, name + " of the data CA is the current one; make a new one first"};
    }
  }
  GT_TRY(store_.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const auto contents, tx.contents.count_by_generation());
    if (contents.contains(generation)) return Error{Code::kConflict, name + " of the data CA is in use"};
    GT_TRY(tx.data_cas.retire(generation, clock_.wall()));
    return tx.audit.append(audited(ccm::Actor{}, "data-ca.retire", name, clock_.wall()));
  }));
  const std::lock_guard lock(mutex_);
  std::erase_if(living_, [&](const Living& one) { return one.generation.number == generation; });
  return {};
}

DataAuthority::Living DataAuthority::unseal(const DataCaRecord& record) const {
  const Generation generation{record.generation, record.certificate_pem};
  const std::string name = "generation " + std::to_string(record.generation) + " of the data CA";
  const auto open_key = [&]() -> Result<crypto::Authority> {
    if (!sealing_) return trouble_.value_or(Error{Code::kCorrupt, "there is no sealing key"});
    if (record.sealing_key_id != sealing_->id()) {
      return Error{Code::kCorrupt, "the key of " + name + " was sealed under key " + record.sealing_key_id +
                                       ", not under " + sealing_->id() + ", which is here: restore that one"};
    }
    const auto pem = sealing_->open(record.sealed_key, purpose_of(record.generation));
    if (!pem) return pem.error().with_context(name);
    GT_ASSIGN(crypto::EcKey key, crypto::EcKey::from_pem(*pem));
    return crypto::Authority{record.certificate_pem, std::move(key)};
  };
  return {generation, open_key()};
}

}  // namespace gridtorrent::tracker::authority
